// Keeps the core that it runs on from going to sleep: started as a process that runs only while nobody else wants to.
// It ends with whoever started it, however that ends.
const parent = process.ppid
while (process.ppid === parent) for (let i = 0; i < 10_000_000; i++);
