import { useState } from 'preact/hooks'
import { identityHere } from '../identity.ts'
import { linkTo, type PageUrl } from '../router.ts'
import { chooseTheme, chosenTheme, type Theme } from '../theme.ts'
import { chooseZone, chosenZone, type Zone } from '../zone.ts'
import { Button } from './button.tsx'
import { Icon, Mark } from './icon.tsx'
import { GROUPS, titleOf } from './rail-pages.ts'

export function Rail({ url }: { readonly url: PageUrl }) {
  const { stage, by, protected: isProtected } = identityHere()
  const [current = 'overview'] = url.path
  const toMain = () => document.querySelector<HTMLElement>('h1')?.focus()
  return (
    <header class="rail">
      <Button class="skip" onClick={toMain}>
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
        <ThemeSwitch />
        <ZoneSwitch />
      </div>
    </header>
  )
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(chosenTheme)
  const choose = (chosen: Theme) => {
    chooseTheme(chosen)
    setTheme(chosen)
  }
  return (
    <select aria-label="Colours" value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
      <option value="auto">System</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  )
}

function ZoneSwitch() {
  const [zone, setZone] = useState(chosenZone)
  const choose = (chosen: Zone) => {
    chooseZone(chosen)
    setZone(chosen)
  }
  return (
    <select aria-label="Times" value={zone} onChange={(event) => choose(event.currentTarget.value as Zone)}>
      <option value="local">Local time</option>
      <option value="utc">UTC</option>
    </select>
  )
}
