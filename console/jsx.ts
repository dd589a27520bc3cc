/** The bundler's calls of these are smaller than those of the automatic runtime. */
export { Fragment, h } from 'preact'
