/** Defined when a package is built, which has neither npm scripts nor sources. */
declare const WAYBILL_PACKAGE: true | undefined

export const IS_PACKAGE = typeof WAYBILL_PACKAGE !== 'undefined'

export const START = IS_PACKAGE ? 'npx waybill' : 'npm start'
/** The same, in front of options. */
export const START_WITH = IS_PACKAGE ? 'npx waybill start' : 'npm start --'
/** In front of a command. */
export const WAYBILL = IS_PACKAGE ? 'npx waybill' : 'npm run -s waybill --'
/** The stage comes behind it. */
export const DEPLOY = IS_PACKAGE ? 'npx waybill deploy' : 'npm run deploy'
/** The stage is a word for a shell. No import stands here: with one, a build keeps the words of a clone in the package. */
export const deployOf = (stage: string) =>
  IS_PACKAGE ? `${DEPLOY} --stage ${stage}` : `${DEPLOY} -- -c stage=${stage}`
/** CDK alone finds no app in the folder of a package. */
export const bootstrapOf = (stage: string) =>
  IS_PACKAGE ? `npx waybill bootstrap --stage ${stage}` : `npx cdk bootstrap -c stage=${stage}`
/** A document, where its reader has it: the package brings them along. */
export const documentOf = (name: string) => (IS_PACKAGE ? `node_modules/waybill/docs/${name}` : `docs/${name}`)
/** The operator's own file. It is not part of the project, so that a new version cannot change it. */
export const SETTINGS_FILE = IS_PACKAGE ? 'waybill.json' : 'infra/settings.json'
export const SEED_FILE = IS_PACKAGE ? 'catalog.json' : 'infra/catalog.json'
