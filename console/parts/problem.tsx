import type { ApiFailure } from '../api.ts'

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
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}
