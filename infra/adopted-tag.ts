/** On a stack whose tables have the names that its settings give: without these it would make other tables. */
export const ADOPTED_TAG = 'waybill:adopted-tables'
