import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { beforeEach } from '@jest/globals'
import { listen } from '../../../support/listen.ts'
import { closeAfterwards } from '../../../support/stack.ts'

export type Answer = (response: ServerResponse) => unknown

/** A service of AWS on loopback, to which the environment points. */
export async function openAwsService(variable: string, usual: Answer) {
  const service = {
    /** Every request, in order. */
    heard: [] as (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { readonly body: Buffer })[],
    /** The next answers; then each is the usual one. */
    answers: [] as Answer[],
    usual,
    server: createServer(async (request, response) => {
      const { method, url, headers } = request
      service.heard.push({ method, url, headers, body: await buffer(request) })
      await (service.answers.shift() ?? service.usual)(response)
    }),
  }
  const { url } = closeAfterwards(await listen(service.server))
  beforeEach(() => {
    Object.assign(service, { answers: [], usual })
    service.heard.length = 0
    Object.assign(process.env, {
      [`AWS_ENDPOINT_URL_${variable}`]: url,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    })
    delete process.env.AWS_SESSION_TOKEN
  })
  return service
}
