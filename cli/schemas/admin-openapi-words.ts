// The parts of the admin API's document that follow from no route and no schema.

const STAGE = { AdminUrl: { default: 'https://api-id.execute-api.region.amazonaws.com' } }

export const ABOUT = {
  openapi: '3.1.0',
  info: {
    title: 'Waybill admin API',
    version: '1',
    description:
      'Served by every stage, for signed calls and, with `adminKeys`, for admin keys; by a local gateway, for the token in its folder and for admin keys; and by `waybill console`, which passes calls on. Amounts are decimal strings, moments ISO 8601 in UTC.',
  },
  servers: [
    { url: 'http://127.0.0.1:8787', description: 'A local gateway, for its token.' },
    { url: 'http://127.0.0.1:{port}', description: 'The console.', variables: { port: { default: '8788' } } },
    { url: '{AdminUrl}', description: 'A stage, for signed calls: its output AdminUrl.', variables: STAGE },
    { url: '{AdminUrl}/keyed', description: 'A stage, for admin keys.', variables: STAGE },
  ],
  security: [{ console: [] }, { localToken: [] }, { signed: [] }, { adminKey: [] }],
  securitySchemes: {
    console: { type: 'apiKey', in: 'header', name: 'X-Waybill-Console' },
    localToken: { type: 'http', scheme: 'bearer', description: 'The adminToken in .waybill/local.json.' },
    signed: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description:
        'AWS Signature Version 4 for the service execute-api. IAM decides which methods and paths a caller may ask for.',
      'x-amazon-apigateway-authtype': 'awsSigv4',
    },
    adminKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'An admin key, svc_admin_…, from an address on its list. Each operation needs the scope in x-scope.',
    },
  },
}

export const HEADERS = {
  'X-Request-Id': {
    description: 'The name of this call, which the log has, too.',
    schema: { type: 'string', pattern: '^adm_[0-9A-HJKMNP-TV-Z]{26}$' },
  },
  ETag: { description: 'The version, in quotes.', schema: { type: 'string', pattern: '^"\\d+"$' } },
  Allow: { description: 'The methods that there are.', schema: { type: 'string' } },
}

export const NEEDED = {
  'Idempotency-Key': {
    description: 'A text of your own that stays the same when you ask again: for 30 days it is done once.',
    schema: { type: 'string', maxLength: 255 },
  },
  'If-Match': { description: 'The version that you have seen, in quotes.', schema: { type: 'string' } },
}

type RefusalWords = { readonly name: string; readonly description: string; readonly header?: keyof typeof HEADERS }

/** By status. */
export const REFUSALS: Readonly<Record<number, RefusalWords>> = {
  400: { name: 'BadRequest', description: 'A field, a query or a header is missing or wrong; `param` names it.' },
  401: { name: 'NoSession', description: "The console's token or the admin key is missing or wrong." },
  403: {
    name: 'Forbidden',
    description:
      '`insufficient_scope`; `access_denied` by AWS; `origin_not_allowed` for another page; of an admin key also: another address, more credits than it may grant on the day, or `provider_change_denied` for a catalog whose providers differ from those in force.',
  },
  404: { name: 'NotFound', description: 'There is no such thing.' },
  405: { name: 'MethodNotAllowed', description: 'Another method; Allow names those that there are.', header: 'Allow' },
  409: { name: 'Conflict', description: '`key_revoked`, `external_id_taken`, or another conflict.' },
  412: {
    name: 'Stale',
    description: '`stale_version`: somebody else came first. The message says who and what, ETag the version now.',
    header: 'ETag',
  },
  413: { name: 'TooLarge', description: 'The body is too large.' },
  415: { name: 'NotJson', description: 'The body is not JSON.' },
  421: { name: 'OtherHost', description: "Another Host than the console's own." },
  422: { name: 'KeyReused', description: '`idempotency_key_reused`: the key stood for another request.' },
  428: { name: 'VersionRequired', description: 'If-Match is missing.' },
  500: { name: 'Unexpected', description: 'Unexpected.' },
  501: { name: 'NotHere', description: 'Not where the API is deployed: the command line does it.' },
  503: {
    name: 'Unavailable',
    description:
      'The database did not answer: service_unavailable if this call has changed nothing, outcome_unknown if it may have; took_too_long if there was no time for an answer. Ask again with the same Idempotency-Key.',
  },
}
