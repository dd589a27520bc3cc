import '../../support/gateway-process.ts'

// The gateway in a process of its own, which tells how long it was busy without a pause. Counted in time of the
// processor, since a machine with other work to do makes everybody wait.

const LOOK_EVERY_MS = 10
const WORTH_TELLING_MS = 100

let before = process.threadCpuUsage()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before)
  before = process.threadCpuUsage()
  const busyMs = Math.round((user + system) / 1000)
  if (busyMs > WORTH_TELLING_MS) console.log(`busy ${busyMs}`)
}, LOOK_EVERY_MS)
