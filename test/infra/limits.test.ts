import { expect, test } from '@jest/globals'
import { readFacts } from './support/synthesized.ts'

const { sizes } = await readFacts()

test.each([0, 4, 12, 50, 90])(
  'with %d models of Bedrock and 20 secrets, no part of a stage is beyond a limit of AWS',
  (models) => {
    const { beyond, measured = [] } = sizes[models] ?? {}
    expect(beyond).toEqual([])
    const idle = new Set(measured.map(({ limit }) => limit))
    for (const { limit, parts } of measured) if (parts.some(([, got]) => got > 0)) idle.delete(limit)
    // CloudFormation makes the names of these.
    expect([...idle]).toEqual(['AWS::IAM::Role.RoleName', 'AWS::Lambda::Function.FunctionName'])
  },
)

test.each([
  [300, /Managed policies of a role: \d+, and AWS takes at most 10\. Take Bedrock models out of the first catalog/],
  [900, /Bytes of the first catalog.*: \d+, and AWS takes at most 500000\. Begin with a smaller catalog/],
])('a catalog of %d models is refused while the template is made, with what to do', (models, words) => {
  expect(sizes[models]?.refused).toMatch(words)
})
