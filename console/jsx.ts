// The names that JSX becomes in the built page.
export { Fragment, h } from 'preact'
