import Foundation

// Errors of reads in functions that cannot throw: a fault that fires, members that are loaded.
//
// Such a read changes nothing: a fault stays a fault, a relationship stays unloaded, and the next access tries again. Where the
// caller of the work can receive an error, it is thrown; elsewhere it is printed.

extension NSManagedObjectContext {
    /// Runs work, and throws the first error of the reads in it that could not throw theirs.
    final func throwingFailedReads<Result>(_ work: () throws -> Result) throws -> Result {
        let outer = failedReads
        failedReads = FailedReads()
        defer { failedReads = outer }
        let result = Swift.Result { try work() }
        // An error of the work itself may only be the consequence of a value that could not be read.
        if let error = failedReads?.first { throw error }
        return try result.get()
    }

    /// Handles the error of a read in a function that cannot throw it.
    final func noteFailedRead(_ error: any Error, _ sentence: @autoclosure () -> String) {
        if failedReads == nil {
            report("\(sentence()): \(error)")
        } else if failedReads?.first == nil {
            failedReads?.first = error
        }
    }

    /// Reports an error on standard error where no error can be thrown.
    final func report(_ sentence: String) {
        FileHandle.standardError.write(Data("CoreData: error: \(sentence)\n".utf8))
    }
}

/// The errors of reads that are thrown when the present work ends.
struct FailedReads {
    var first: (any Error)?
}
