/** Defined when a package is built, which has neither npm scripts nor sources. */
declare const WAYBILL_PACKAGE: true | undefined

export const IS_PACKAGE = typeof WAYBILL_PACKAGE !== 'undefined'

/** Starts the gateway on this machine. */
export const START = IS_PACKAGE ? 'npx waybill' : 'npm start'
/** The same, in front of options. */
export const START_WITH = IS_PACKAGE ? 'npx waybill start' : 'npm start --'
/** In front of a command. */
export const WAYBILL = IS_PACKAGE ? 'npx waybill' : 'npm run -s waybill --'
export const DEPLOY = IS_PACKAGE ? 'npx waybill deploy' : 'npm run deploy'
