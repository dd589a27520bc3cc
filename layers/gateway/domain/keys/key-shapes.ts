/** The shapes of keys that people paste in the wrong place, and that providers quote in their errors. */
export function keyShapes(): RegExp {
  return /\b(?:(?:sk|pk|gsk|csk|xai|nvapi|pplx|svc_live)[-_][\w*-]{6,}|AIza[\w*-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{12,})/g
}
