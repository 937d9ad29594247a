/// Runs a block. Outside Apple's platforms there is no autorelease pool to drain: objects are released with their last
/// reference.
public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

/// The number of nanoseconds in a second, which outside Apple's platforms the module Dispatch does not declare.
public let NSEC_PER_SEC: UInt64 = 1_000_000_000
