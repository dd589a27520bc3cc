// Keeps its core from going to sleep: started as a process that runs only while no other wants to. It ends with the
// process that started it, however that ends.
const parent = process.ppid
while (process.ppid === parent) for (let i = 0; i < 10_000_000; i++);
