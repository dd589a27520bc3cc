/** The shapes of keys that people paste in the wrong place, and that providers quote in their errors. */
export function keyShapes(): RegExp {
  return /\b(?:sk|pk|gsk|xai|svc_live)[-_][\w*-]{6,}/g
}
