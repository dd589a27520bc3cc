/** On a stack whose settings give the names of its tables: without them it would make other tables. */
export const ADOPTED_TAG = 'waybill:adopted-tables'
