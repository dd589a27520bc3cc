// Loaded into every measured process before its own program: reports the consumption of the process when asked. Plain
// JavaScript, because Node's reader of TypeScript would be counted, too.

process.on('message', ({ report }) => {
  if (report !== 'consumption') return
  const { user, system } = process.cpuUsage()
  process.send({ cpuUs: user + system })
})
process.on('disconnect', () => process.exit())
