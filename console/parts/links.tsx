import { linkTo } from '../router.ts'

export function KeyLink({ id, name }: { readonly id: string; readonly name?: string | null | undefined }) {
  return <a href={linkTo(['keys', id])}>{name || <code>{id}</code>}</a>
}

/** The last signs of an id are those that differ; all of it when it is pointed at. */
const SHORT = 6

export function RequestLink({ id, isShort = false }: { readonly id: string; readonly isShort?: boolean }) {
  return (
    <a href={linkTo(['requests', id])} title={id}>
      <code>{isShort ? `…${id.slice(-SHORT)}` : id}</code>
    </a>
  )
}
