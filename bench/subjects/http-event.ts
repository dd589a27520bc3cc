/** The event that a Function URL or an HTTP API makes of a request (payload format 2.0), as far as functions read it. */
export function httpEvent(method: 'GET' | 'POST', path: string, secret: string, body?: object) {
  const sourceIp = '203.0.113.7'
  const routeKey = `${method} ${path}`
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: '',
    headers: {
      'content-type': 'application/json',
      host: 'bench.lambda-url.example',
      authorization: `Bearer ${secret}`,
    },
    requestContext: {
      domainName: 'bench.lambda-url.example',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent: 'bench/1.0' },
      requestId: 'bench',
      routeKey,
      stage: '$default',
      timeEpoch: Date.now(),
    },
    ...(body && { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  }
}

export function chatEvent(secret: string, model: string) {
  const body = { model, stream: true, messages: [{ role: 'user', content: 'Hello' }] }
  return httpEvent('POST', '/v1/chat/completions', secret, body)
}
