import type { ApiFailure } from '../api.ts'
import { Button } from './button.tsx'

type Props = { readonly failure: ApiFailure | undefined; readonly again?: (() => void) | undefined }

/** The failure in the server's words, with the id by which its log has it. */
export function Problem({ failure, again }: Props) {
  if (!failure) return null
  return (
    <div class="notice bad" role="alert">
      <p>
        {failure.param && <code>{failure.param}: </code>}
        {failure.message}
        {failure.requestId && (
          <>
            {' '}
            (<code>{failure.requestId}</code>)
          </>
        )}
      </p>
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  )
}
