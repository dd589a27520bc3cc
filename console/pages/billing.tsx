import { Notices } from './notices.tsx'
import { Invoices, Statements } from './papers.tsx'
import { Reconcile } from './reconcile.tsx'

export const PAGES = { invoices: Invoices, statements: Statements, reconcile: Reconcile, notices: Notices }
