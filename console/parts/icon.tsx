/** Drawn on 16 by 16. */
const PATHS = {
  overview: 'M2 13V7m4 6V3m4 10V9m4 4V5',
  requests: 'M2 4h12M2 8h12M2 12h8',
  usage: 'M2 12l4-5 3 3 5-7',
  keys: 'M8 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0zm0 0h6m-2 0v3',
  catalog: 'M2 4h12v8H2zM2 7h12',
  routes: 'M2 8h3l4-4h5M5 8l4 4h5M12 2l2 2-2 2m0 4l2 2-2 2',
  playground: 'M3 3l10 5-10 5z',
  books: 'M3 8l3 4 7-8',
  changes: 'M8 4.5V8l2.5 1.5M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ of }: { readonly of: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[of]} />
    </svg>
  )
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <rect class="c0" width="24" height="24" rx="6" />
      <path class="mark-line" d="M5 8l3.2 8L12 9l3.8 7L19 8" />
    </svg>
  )
}
