import type { ComponentChildren } from 'preact'
import { Button } from '../parts/button.tsx'
import type { Answered } from './use-answer.ts'

type Props<Answer> = {
  readonly title: string
  readonly of: Answered<Answer>
  readonly children: (answer: Answer) => ComponentChildren
}

/** A part of the page with a title: its content, or the reason why there is none. */
export function Part<Answer>({ title, of: { answer, failure, retry }, children }: Props<Answer>) {
  return (
    <section class="panel" aria-label={title} aria-busy={!answer && !failure}>
      <h2>{title}</h2>
      {failure ? (
        <p class="notice" role="alert">
          {failure.message} <Button onClick={retry}>Try again</Button>
        </p>
      ) : answer ? (
        children(answer)
      ) : (
        <p class="quiet">Loading…</p>
      )}
    </section>
  )
}
