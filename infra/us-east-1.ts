/** CloudFront takes its certificate, its firewall and the delivery of its logs from this region only. */
export const US_EAST_1 = 'us-east-1'
