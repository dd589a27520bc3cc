import { shared } from './shared.ts'

export type Zone = 'local' | 'utc'

function kept<Value extends string>(name: string, usual: Value) {
  const choice = shared((localStorage.getItem(name) ?? usual) as Value)
  const choose = (value: Value) => {
    localStorage.setItem(name, value)
    choice.set(value)
  }
  // Another tab has chosen.
  addEventListener('storage', ({ key, newValue }) => key === name && choice.set((newValue ?? usual) as Value))
  return { ...choice, choose }
}

export const zone = /* @__PURE__ */ kept<Zone>('waybill.zone', 'local')

/** Addresses by their names, as JSON. */
export const views = /* @__PURE__ */ kept<string>('waybill.views', '{}')

export const theme = /* @__PURE__ */ kept<string>('waybill.theme', 'auto')
