import { chmod, mkdir, stat } from 'node:fs/promises'
import { CliError } from '../operator/terminal/cli-error.ts'

const STICKY = 0o1000

/** Makes a folder that only its owner can enter. Throws a CliError. */
export async function privateFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // A folder that everybody shares on purpose, such as /tmp, stays as it is. The files in it are private all the same.
    if ((await stat(folder)).mode & STICKY) return
    await chmod(folder, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CliError(`The folder '${folder}' cannot be made and kept private (${code}). Choose one that is yours.`)
  }
}
