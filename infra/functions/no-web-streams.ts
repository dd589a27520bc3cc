/** Stands in for Node's own: Middy asks of a body whether it is one of these, and no body of ours is. */
export class ReadableStream {}
