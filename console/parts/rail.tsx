import { useState } from 'preact/hooks'
import { identityHere } from '../identity.ts'
import { chooseTheme, chooseZone, chosenTheme, chosenZone } from '../preferences.ts'
import { linkTo, type PageUrl } from '../router.ts'
import { Button, Choice } from './controls.tsx'
import { focusHeading } from './page.tsx'
import { GROUPS, titleOf } from './rail-pages.ts'

export function Rail({ url }: { readonly url: PageUrl }) {
  const { stage, by, protected: isProtected } = identityHere()
  const [current = 'overview'] = url.path
  return (
    <header class="rail">
      <Button class="skip" onClick={focusHeading}>
        Skip to the page
      </Button>
      <div class="row brand">
        <a class="row home" href={linkTo([])}>
          <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
            <rect class="c0" width="24" height="24" rx="6" />
            <path class="line" d="M5 8l3.2 8L12 9l3.8 7L19 8" />
          </svg>
          Waybill
        </a>
        <span class={isProtected ? 'push badge warn' : 'push badge'} title={`You act as ${by}`}>
          {stage}
        </span>
      </div>
      <nav class="pages" aria-label="Pages">
        {GROUPS.map(({ name, pages }) => (
          <>
            {name && <h2 class="quiet">{name}</h2>}
            {Object.entries(pages).map(([page, icon]) => (
              <a
                key={page}
                class="row quiet"
                href={linkTo([page])}
                aria-current={page === current ? 'page' : undefined}
              >
                <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
                  <path class="line" d={icon} />
                </svg>
                {titleOf(page)}
              </a>
            ))}
          </>
        ))}
      </nav>
      <div class="small rail-foot">
        <Switch label="Colours" of={chosenTheme} onChoose={chooseTheme} options={THEMES} />
        <Switch label="Times" of={chosenZone} onChoose={chooseZone} options={ZONES} />
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
