import Coral

/// Errors in one sentence for people.
enum ErrorText {
    static func text(of error: any Error) -> String {
        // Our own errors are sentences. Every error can be made an NSError, so the type is asked for, not the cast.
        let isCocoa = error is CocoaError || type(of: error) is NSError.Type
        if !isCocoa, type(of: error) is any CustomStringConvertible.Type { return "\(error)" }
        return text(ofCocoa: error as NSError)
    }

    /// What the framework says, with the reason that lies beneath it and the errors it consists of.
    private static func text(ofCocoa error: NSError) -> String {
        var parts = [error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription]
        if let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String, !parts[0].contains(reason) {
            parts.append(reason.hasSuffix(".") ? reason : reason + ".")
        }
        // The system's sentences name no file.
        if let path = error.userInfo[NSFilePathErrorKey] as? String, !parts.contains(where: { $0.contains(path) }) {
            parts[0] = "\(path): \(parts[0])"
        }
        for detail in (error.userInfo["NSDetailedErrors"] as? [any Error] ?? []).prefix(5) {
            parts.append((detail as NSError).localizedDescription)
        }
        return parts.joined(separator: " ")
    }
}
