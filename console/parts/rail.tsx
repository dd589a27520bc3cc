import { theme, type Zone, zone } from '../preferences.ts'
import { linkTo, type PageUrl } from '../router.ts'
import { identityHere } from '../session.ts'
import { LINE } from './chart.tsx'
import { Button, Choice } from './controls.tsx'
import { focusHeading } from './page.tsx'
import { GROUPS, pageTitle } from './rail-pages.ts'

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
          <svg width="1.4rem" height="1.4rem" viewBox="0 0 24 24" aria-hidden="true">
            <rect fill="var(--c0)" width="24" height="24" rx="6" />
            <path {...LINE} stroke="#fff" stroke-width="2" d="M5 8l3.2 8L12 9l3.8 7L19 8" />
          </svg>
          Waybill
        </a>
        <span class={isProtected ? 'push badge warn' : 'push badge'} title={`You act as ${by}`}>
          {stage}
        </span>
      </div>
      <nav class="pages" aria-label="Pages">
        {Object.entries(GROUPS).map(([name, pages]) => (
          <>
            {name && <h2 class="quiet">{name}</h2>}
            {Object.entries(pages).map(([page, icon]) => (
              <a
                key={page}
                class="row quiet"
                href={linkTo([page])}
                aria-current={page === current ? 'page' : undefined}
              >
                <svg width="1rem" height="1rem" viewBox="0 0 16 16" aria-hidden="true">
                  <path {...LINE} d={icon} />
                </svg>
                {pageTitle(page)}
              </a>
            ))}
          </>
        ))}
      </nav>
      <div class="small rail-foot">
        <Choice label="Colours" value={theme.use()} onChange={theme.choose} options={THEMES} />
        <Choice label="Times" value={zone.use()} onChange={(chosen) => zone.choose(chosen as Zone)} options={ZONES} />
      </div>
    </header>
  )
}

const THEMES = Object.entries({ auto: 'System', light: 'Light', dark: 'Dark' })
const ZONES = Object.entries({ local: 'Local time', utc: 'UTC' })
