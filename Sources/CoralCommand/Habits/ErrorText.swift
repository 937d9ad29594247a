import Coral

/// Formats errors as one sentence for the user.
enum ErrorText {
    static func text(of error: any Error) -> String {
        // The errors of this project are sentences. The type is compared because every error can be cast to NSError.
        let isCocoa = error is CocoaError || type(of: error) is NSError.Type
        if !isCocoa, type(of: error) is any CustomStringConvertible.Type { return "\(error)" }
        return text(ofCocoa: error as NSError)
    }

    /// The framework's description, with the failure reason and the underlying errors.
    private static func text(ofCocoa error: NSError) -> String {
        var parts = [error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription]
        if let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String, !parts[0].contains(reason) {
            parts.append(reason.hasSuffix(".") ? reason : reason + ".")
        }
        // The system's descriptions do not name the file.
        if let path = error.userInfo[NSFilePathErrorKey] as? String, !parts.contains(where: { $0.contains(path) }) {
            parts[0] = "\(path): \(parts[0])"
        }
        for detail in (error.userInfo["NSDetailedErrors"] as? [any Error] ?? []).prefix(5) {
            parts.append((detail as NSError).localizedDescription)
        }
        return parts.joined(separator: " ")
    }
}
