#!/usr/bin/env node
import './require-node.cjs'

// Loaded only now, because an older Node cannot read it.
await import('./operator/waybill.ts')
