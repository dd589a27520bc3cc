import type { Socket } from 'node:dgram'
import type { DaemonAddress } from '../config.ts'

/** Hands a document over. Whether it arrives is nobody's to know: it is one datagram, and no request fails for it. */
export type SendDocument = (document: object) => Promise<void>

const HEAD = '{"format":"json","version":1}\n'

export function xrayDaemon({ host, port }: DaemonAddress): SendDocument {
  let socket: Socket | undefined
  return (document) =>
    new Promise((resolve) => {
      socket ??= openSocket()
      socket.send(HEAD + JSON.stringify(document), port, host, () => resolve())
    })
}

/** Loaded with the first trace, and never where there are none. */
function openSocket(): Socket {
  const socket = process.getBuiltinModule('node:dgram').createSocket('udp4')
  return socket.on('error', () => {}).unref()
}
