/** Every page by its first word, with its icon on 16 by 16, in the groups in which they are shown. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    overview: 'M2 13V7m4 6V3m4 10V9m4 4V5',
    requests: 'M2 4h12M2 8h12M2 12h8',
    usage: 'M2 12l4-5 3 3 5-7',
  },
  Customers: {
    accounts: 'M11 5a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM2.5 14c.5-3 2.5-4.5 5.5-4.5s5 1.5 5.5 4.5',
    keys: 'M8 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0zm0 0h6m-2 0v3',
  },
  Service: {
    catalog: 'M2 4h12v8H2zM2 7h12',
    routes: 'M2 8h3l4-4h5M5 8l4 4h5M12 2l2 2-2 2m0 4l2 2-2 2',
    playground: 'M3 3l10 5-10 5z',
  },
  Billing: {
    invoices: 'M4 2h8v12l-2-1-2 1-2-1-2 1zM6 6h4M6 9h4',
    statements: 'M3 2h7l3 3v9H3zM6 8h4M6 11h4',
    reconcile: 'M8 2v12M3 5h10M3 5L1.5 9h3zM13 5l-1.5 4h3z',
  },
  Trust: {
    books: 'M3 8l3 4 7-8',
    changes: 'M8 4.5V8l2.5 1.5M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
    notices: 'M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM7 14h2',
  },
}

export const PAGES = Object.values(GROUPS).flatMap(Object.keys)

/** An account is a customer to people. */
export const pageTitle = (page: string) => titleOf(page.replace('accounts', 'customers'))

export const titleOf = (page: string) => page.charAt(0).toUpperCase() + page.slice(1)
