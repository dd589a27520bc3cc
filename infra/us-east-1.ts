/** CloudFront takes its certificate, its firewall and the delivery of its logs from this region only, and has its metrics there. */
export const US_EAST_1 = 'us-east-1'
