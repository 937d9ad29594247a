import MetricKit
