import HealthKit
