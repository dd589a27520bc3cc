/** Replaces Node's own class: Middy tests if a body is an instance, and no body of ours is. */
export class ReadableStream {}
