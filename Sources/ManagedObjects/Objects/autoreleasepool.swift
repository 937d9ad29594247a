/// Runs a block. Outside Apple's platforms there is no autorelease pool to drain: objects are released with their last
/// reference.
public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}
