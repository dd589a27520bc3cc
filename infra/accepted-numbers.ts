/**
 * The numbers of the origin secrets that functions accept while CloudFront sends this one. The next one is accepted before
 * it is sent and the former one after that, so that while a deployment raises the number by one, or is rolled back,
 * CloudFront and the functions may change in any order.
 */
export function acceptedNumbers(sent: number): number[] {
  return [sent - 1, sent, sent + 1].filter((number) => number >= 1)
}
