import { views } from '../preferences.ts'
import { parseJson } from '../read-json.ts'
import { linkTo, type PageUrl, pageUrlOf } from '../router.ts'
import { announce } from './controls.tsx'
import { Choices, Picker } from './picker.tsx'
import { pageTitle } from './rail-pages.ts'

/** The address is the view. This browser keeps names of addresses. */
export function Views({ url }: { readonly url: PageUrl }) {
  const saved: Readonly<Record<string, string>> = parseJson(views.use())
  const here = linkTo(url.path, Object.fromEntries(url.query))
  const [name] = Object.entries(saved).find(([, address]) => address === here) ?? []
  const keep = (all: readonly (readonly [name: string, address: string])[], text: string) => {
    views.choose(JSON.stringify(Object.fromEntries(all)))
    announce(text)
  }
  const choose = (chosen: string | null) => {
    const others = Object.entries(saved).filter(([one]) => one !== name)
    if (chosen === null) keep(others, `The view ${name} is removed.`)
    else if (Object.hasOwn(saved, chosen)) location.hash = saved[chosen] ?? ''
    else keep([...others, [chosen, here]], `This view is kept in this browser as ${chosen}.`)
  }
  const choices = Object.entries(saved).map(([value, address]) => ({
    value,
    text: value,
    note: pageTitle(pageUrlOf(address).path[0] ?? ''),
  }))
  return (
    <Picker<string> label="View" value={name} onChoose={choose}>
      {(done) => [
        <Choices label="a view" choices={choices} typed={/^.{1,60}$/} onChoose={done} />,
        <p class="quiet small">Type a name to keep these filters under it.</p>,
      ]}
    </Picker>
  )
}
