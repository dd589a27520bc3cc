import { type ComponentChildren, type ComponentType, render } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { WhoAmI } from '../layers/admin/api/shapes/answers.ts'
import { connect } from './api.ts'
import { LINE } from './parts/chart.tsx'
import { Announcements, Button, Choice } from './parts/controls.tsx'
import { Help, SecretDialog } from './parts/dialog.tsx'
import { Command, focusHeading, Loading, Page } from './parts/page.tsx'
import { useLoad } from './parts/use-load.ts'
import { theme, type Zone, zone } from './preferences.ts'
import { GROUPS, linkTo, type PageUrl, pageTitle, usePageUrl } from './router.ts'
import { beginSession, endSession, hasEnded, identity, identityHere, sessionToken } from './session.ts'

// Every group of pages needs these: named here, they are in one file with the others that all need.
export * from './parts/table.tsx'
export * from './parts/values.tsx'

// The secret's dialog outlives the session: a server that ended must not take the only copy with it.
function App() {
  // The style sheet follows the system, unless the root has another theme.
  document.documentElement.style.colorScheme = theme.use().replace('auto', 'light dark')
  return [hasEnded.use() || sessionToken() === null ? <SignIn /> : <SignedIn />, <SecretDialog />, <Announcements />]
}

function SignedIn() {
  const url = usePageUrl()
  const known = useLoad<WhoAmI>('/whoami')
  identity.set(known.data)
  if (!known.data) {
    return (
      <main>
        <h1>Waybill</h1>
        <Loading of={known}>{() => null}</Loading>
      </main>
    )
  }
  return (
    <div class="frame">
      <Rail url={url} />
      <PageOf url={url} />
    </div>
  )
}

function SignIn() {
  identity.set(undefined)
  return (
    <Page title="Open the console from the command line">
      <p>This browser has not been signed in, or its console has ended. The command opens a window that is:</p>
      <Command>console --local</Command>
      <p class="quiet">
        For a deployed stage: <code>--stage dev</code> in place of <code>--local</code>. An address works once; after
        it, every tab of this browser is signed in until the console ends.
      </p>
    </Page>
  )
}

type Props = { readonly url: PageUrl }
type Group = { readonly PAGES: Readonly<Record<string, ComponentType<Props>>> }

/** Groups of pages, each by the first word of its path, and a slash if an id comes after it. A file for each page would repeat more than it saves. */
const LOADS: readonly (readonly [pages: readonly string[], load: () => Promise<Group>])[] = [
  [['overview', 'requests', 'requests/', 'usage', 'changes'], () => import('./pages/traffic.tsx')],
  [['accounts', 'keys', 'search', 'playground'], () => import('./pages/customers.tsx')],
  [['accounts/', 'keys/'], () => import('./pages/details.tsx')],
  [['catalog', 'routes', 'books'], () => import('./pages/setup.tsx')],
  [['invoices', 'statements', 'reconcile', 'notices'], () => import('./pages/billing.tsx')],
]

/** Until a page is loaded, the one before stays. */
export function PageOf({ url }: Props) {
  const [known, setKnown] = useState<Group['PAGES']>({})
  const [name = 'overview', id] = url.path
  const place = id === undefined ? name : `${name}/`
  const [, load] = LOADS.find(([pages]) => pages.includes(place)) ?? []
  const Show = load ? known[place] : NotFound
  const last = useRef(WAITING)
  useEffect(() => {
    if (Show) return
    load?.().then(
      ({ PAGES }) => setKnown((before) => ({ ...before, ...PAGES })),
      () => setKnown((before) => ({ ...before, [place]: NotLoaded })),
    )
  }, [place])
  if (Show) last.current = <Show key={id ?? name} url={url} />
  return last.current
}

const WAITING = <main>Loading…</main>

function noPage(title: string, text: ComponentChildren) {
  return (
    <Page title={title}>
      <p>{text}</p>
    </Page>
  )
}

const NotFound = () => noPage('There is no such page', <a href={linkTo([])}>Go to the overview</a>)

const NotLoaded = () =>
  noPage('This page could not be loaded', ['Is the console still running? ', <a href="/">Load it again</a>])

export function Rail({ url }: { readonly url: PageUrl }) {
  const { stage, by, protected: isProtected } = identityHere()
  const [current = 'overview'] = url.path
  const nav = useRef<HTMLElement>(null)
  // On a phone it scrolls sideways.
  useLayoutEffect(
    () => nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }),
    [current],
  )
  return (
    <header class="rail row wrap">
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
      <nav class="pages" aria-label="Pages" ref={nav}>
        {Object.entries(GROUPS).map(([name, pages]) => [
          name && <h2 class="quiet small">{name}</h2>,
          Object.entries(pages).map(([page, icon]) => (
            <a key={page} class="row quiet" href={linkTo([page])} aria-current={page === current ? 'page' : undefined}>
              <svg width="1rem" height="1rem" viewBox="0 0 16 16" aria-hidden="true">
                <path {...LINE} d={icon} />
              </svg>
              {pageTitle(page)}
            </a>
          )),
        ])}
      </nav>
      <div class="row small push rail-foot">
        <Choice label="Colours" value={theme.use()} onChange={theme.choose} options={THEMES} />
        <Choice label="Times" value={zone.use()} onChange={(chosen) => zone.choose(chosen as Zone)} options={ZONES} />
        <Help />
      </div>
    </header>
  )
}

const THEMES = Object.entries({ auto: 'Colours: auto', light: 'Colours: light', dark: 'Colours: dark' })
const ZONES = Object.entries({ local: 'Times: local', utc: 'Times: UTC' })

connect({
  base: '/admin/v1',
  headers: () => ({ 'X-Waybill-Console': sessionToken() ?? '' }),
  lost: 'No answer came: is the console still running?',
  onFailure: ({ code }) => {
    // The gateway may also refuse the playground's key, which does not end this session.
    if (code === 'invalid_console_token') endSession()
  },
})
await beginSession()
render(<App />, document.body)
