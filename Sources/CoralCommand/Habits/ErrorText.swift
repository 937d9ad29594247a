import Coral
import GRDB

/// Formats errors as one sentence for the user.
enum ErrorText {
    static func text(of error: any Error) -> String {
        // An error of a database that is not a store, such as the destination of a conversion.
        if let error = error as? DatabaseError { return "A database cannot be read or written: \(reason(of: error))." }
        // The errors of this project are sentences. The type is compared because every error can be cast to NSError.
        let isCocoa = error is CocoaError || type(of: error) is NSError.Type
        if !isCocoa, type(of: error) is any CustomStringConvertible.Type { return "\(error)" }
        return text(ofCocoa: error as NSError)
    }

    /// SQLite's message, or its name for the code: after a failed backup the message is that of the other connection.
    private static func reason(of error: DatabaseError) -> String {
        error.message.flatMap { $0 == "not an error" ? nil : $0 } ?? "\(error.resultCode)"
    }

    /// The framework's description, with the failure reason. If there are several errors, each description is contained once.
    private static func text(ofCocoa error: NSError) -> String {
        let details = error.userInfo["NSDetailedErrors"] as? [NSError] ?? []
        if !details.isEmpty {
            var sentences: [String] = []
            for text in details.map(text(ofCocoa:)) where !sentences.contains(text) { sentences.append(text) }
            let more = sentences.count > 10 ? "\nThere are \(sentences.count - 10) more errors." : ""
            return sentences.prefix(10).joined(separator: "\n") + more
        }
        var parts = [error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription]
        if let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String, !parts[0].contains(reason) {
            parts.append(reason.hasSuffix(".") ? reason : reason + ".")
        }
        // The system's descriptions do not name the file.
        if let path = error.userInfo[NSFilePathErrorKey] as? String, !parts.contains(where: { $0.contains(path) }) {
            parts[0] = "\(path): \(parts[0])"
        }
        // Objects have the same names as in the output of commands: Note/p3.
        return StoredName.shortened(parts.joined(separator: " "))
    }
}
