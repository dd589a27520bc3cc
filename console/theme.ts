const STORED = 'waybill.theme'

export function chosenTheme(): string {
  return localStorage.getItem(STORED) ?? 'auto'
}

export function chooseTheme(theme: string): void {
  localStorage.setItem(STORED, theme)
  applyTheme()
}

/** The style sheet follows the system, unless the root has another theme. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = chosenTheme()
}
