import { linkTo } from '../router.ts'

export function KeyLink({ id, name }: { readonly id: string; readonly name?: string | null | undefined }) {
  return <a href={linkTo(['keys', id])}>{name || <code>{id}</code>}</a>
}

export function RequestLink({ id }: { readonly id: string }) {
  return (
    <a href={linkTo(['requests', id])}>
      <code>{id}</code>
    </a>
  )
}
