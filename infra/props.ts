import type { Settings } from './setting-table.ts'

export type { Settings }

/** The stages that there are, each with settings of its own. */
export type StageName = 'dev' | 'prod'

/** The settings of a gateway, each with the default of its stage, and whence it has its models. */
export interface WaybillProps extends Partial<Settings> {
  /** The defaults of the settings: `dev` can be lost, `prod` is protected and keeps its data. */
  readonly stage: StageName
  /**
   * The name of this gateway in metrics, and of its secrets: `waybill/NAME/…`. Two gateways in one region of an account
   * need two names. Default: the stage.
   */
  readonly name?: string | undefined
  /** The file with the models that the first deployment puts in force. Default: `catalog.json`. */
  readonly catalog?: string | undefined
}
