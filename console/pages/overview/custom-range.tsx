import { Field } from '../../parts/field.tsx'
import type { Range } from '../../parts/ranges.ts'
import { type PageUrl, withQuery } from '../../router.ts'

export function CustomRange({ url, range }: { readonly url: PageUrl; readonly range: Range }) {
  const choose = (name: 'from' | 'to') => (day: string) => {
    if (day) location.replace(withQuery(url, { range: 'custom', [name]: day }))
  }
  return (
    <div class="filters">
      <Field label="From (UTC day)" type="date" value={range.from.slice(0, 10)} onInput={choose('from')} />
      <Field label="To, not included" type="date" value={(range.to ?? '').slice(0, 10)} onInput={choose('to')} />
    </div>
  )
}
