export type Theme = 'auto' | 'light' | 'dark'

const STORED = 'waybill.theme'

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED)
  return stored === 'light' || stored === 'dark' ? stored : 'auto'
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme)
  applyTheme()
}

/** The style sheet follows the system, unless the root has another theme. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = chosenTheme()
}
