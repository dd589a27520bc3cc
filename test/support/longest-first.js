// The longest tests begin first, so that no worker is left alone with one at the end. A clean checkout knows nothing of
// earlier runs, hence the list; the order of all others makes little difference. Tests that collect garbage on purpose
// are early, too: a worker's heap grows with every file.
const LONGEST = [
  'infra/synth',
  'robust/route-blame',
  'console/page',
  'console/whole-way',
  'robust/upstream-bounds',
  'robust/memory',
  'tokenizer/count-tokens',
  'robust/worst-case-input',
  'local/start',
  'deployed/ric',
  'deployed/bundles',
  'functions/kill',
  'functions/admission',
  'operator/waybill',
  'robust/bad-input',
  'functions/outage',
  'providers/passed-fields',
  'robust/upstream-stream',
  'functions/hold-covers-bill',
  'functions/routing',
  'operator/audit',
  'operator/usage-export',
  'local/catalog',
  'simulation/simulate',
]

export default class LongestFirst {
  sort(tests) {
    return [...tests].sort((a, b) => rankOf(a) - rankOf(b) || (a.path < b.path ? -1 : 1))
  }

  allFailedTests(tests) {
    return tests
  }

  cacheResults() {}
}

function rankOf({ path }) {
  const rank = LONGEST.findIndex((name) => path.endsWith(`test/${name}.test.ts`))
  return rank === -1 ? LONGEST.length : rank
}
