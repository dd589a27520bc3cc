import { Page } from '../parts/page.tsx'
import { linkTo } from '../router.ts'

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p>
        <a href={linkTo([])}>Go to the overview</a>
      </p>
    </Page>
  )
}
