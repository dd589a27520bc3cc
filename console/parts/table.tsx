import type { ComponentChildren } from 'preact'

type Props = {
  readonly caption: string
  readonly head: ComponentChildren
  readonly children: ComponentChildren
  readonly foot?: ComponentChildren
}

/** A wide table scrolls by itself, by keyboard too; the page does not. */
export function Table({ caption, head, children, foot }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="scroll" tabIndex={0} aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>{head}</tr>
        </thead>
        <tbody>{children}</tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </section>
  )
}
