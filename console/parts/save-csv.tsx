import { Button, download } from './controls.tsx'
import { Problem } from './page.tsx'
import { useSubmission } from './use-load.ts'

type Props = { readonly file: string; readonly read: () => Promise<Blob | string> }

export function SaveCsv({ file, read }: Props) {
  const { isRunning, failure, run } = useSubmission()
  return [
    <Button disabled={isRunning} onClick={() => void run(async () => download(file, await read()))}>
      {isRunning ? 'Reading…' : 'Save as CSV'}
    </Button>,
    <Problem failure={failure} />,
  ]
}
