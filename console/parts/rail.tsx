import { useState } from 'preact/hooks'
import { identityHere } from '../identity.ts'
import { linkTo, type PageUrl } from '../router.ts'
import { chooseTheme, chosenTheme } from '../theme.ts'
import { chooseZone, chosenZone, type Zone } from '../zone.ts'
import { Button } from './button.tsx'
import { Icon, Mark } from './icon.tsx'
import { focusHeading } from './page.tsx'
import { GROUPS, titleOf } from './rail-pages.ts'
import { Choice } from './toolbar.tsx'

export function Rail({ url }: { readonly url: PageUrl }) {
  const { stage, by, protected: isProtected } = identityHere()
  const [current = 'overview'] = url.path
  return (
    <header class="rail">
      <Button class="skip" onClick={focusHeading}>
        Skip to the page
      </Button>
      <div class="brand">
        <a class="home" href={linkTo([])}>
          <Mark />
          Waybill
        </a>
        <span class={isProtected ? 'stage badge warn' : 'stage badge'} title={`You act as ${by}`}>
          {stage}
        </span>
      </div>
      <nav class="pages" aria-label="Pages">
        {GROUPS.map(({ name, pages }) => (
          <>
            {name && <h2 class="pages-group">{name}</h2>}
            {pages.map((page) => (
              <a key={page} href={linkTo([page])} aria-current={page === current ? 'page' : undefined}>
                <Icon of={page} />
                {titleOf(page)}
              </a>
            ))}
          </>
        ))}
      </nav>
      <div class="rail-foot">
        <Switch label="Colours" of={chosenTheme} onChoose={chooseTheme} options={THEMES} />
        <Switch label="Times" of={chosenZone} onChoose={(zone) => chooseZone(zone as Zone)} options={ZONES} />
      </div>
    </header>
  )
}

const THEMES = [
  ['auto', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

const ZONES = [
  ['local', 'Local time'],
  ['utc', 'UTC'],
] as const

type SwitchProps = {
  readonly label: string
  readonly of: () => string
  readonly onChoose: (value: string) => void
  readonly options: readonly (readonly [string, string])[]
}

function Switch({ label, of, onChoose, options }: SwitchProps) {
  const [value, setValue] = useState(of)
  const choose = (chosen: string) => {
    onChoose(chosen)
    setValue(chosen)
  }
  return <Choice label={label} value={value} onChange={choose} options={options} />
}
